"""One exploration by several processes that share what they have visited."""
