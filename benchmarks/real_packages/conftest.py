"""Make `together` importable from the tests, which lie in folders by subject."""
