"""Linear temporal logic: formulas, their automata, and what they say about words."""
