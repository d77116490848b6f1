"""Breadth-first search by a cluster: each worker has a part of the states, and sends the others.

`part` is what a worker does, `search` is who leads them; `mazurka.cluster` is how these reach each
other.
"""
