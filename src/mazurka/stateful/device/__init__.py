"""Searches on a device with memory and very many workers of its own, such as a GPU."""
