"""Sleep sets and dynamic partial-order reduction: one execution of each Mazurkiewicz trace."""
