"""SAT solvers in processes of their own, which can be killed."""
