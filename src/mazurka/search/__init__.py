"""What every engine is asked and what it answers; how its strategies are found."""
