"""What Python code does to data: attributes, containers, iteration, calls."""
