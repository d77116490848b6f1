"""The version of Mazurka, for everything that prints or stores it."""

__version__ = "0.2.0"
