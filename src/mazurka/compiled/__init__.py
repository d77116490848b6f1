"""How the engines' kernels are compiled, kept and given memory."""
