"""What the compiled searches share with Python: the visited states, and a program's tables."""
