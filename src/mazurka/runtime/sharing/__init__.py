"""What threads can meet in: locations, the operations on them, and code that nobody watches."""
