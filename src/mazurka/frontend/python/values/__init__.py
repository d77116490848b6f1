"""Values of a model: what they are, how they are made, kept, compared and assigned.

`kinds` has what an expression can denote.  `containers` and `objects` make lists, tuples and
records; `owned` has names that hold several numbers; `comparisons` and `assignment` use them all.
"""
