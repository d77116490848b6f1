import networkx
import pytest
from together import run_together

pytestmark = pytest.mark.mazurka


def test_add_nodes():
    """holds: each node is stored by single operations on dictionaries."""
    graph = networkx.Graph()
    run_together(lambda: graph.add_node(1), lambda: graph.add_node(2))
    assert len(graph) == 2


def test_iterate_while_adding():
    """violated: going through the nodes fails if one is added."""
    graph = networkx.path_graph(2)
    run_together(lambda: list(graph.nodes), lambda: graph.add_node(9))


def test_attributes_of_one_node():
    """violated: both threads find no such node, and the attributes of one are replaced."""
    graph = networkx.Graph()
    run_together(lambda: graph.add_node(1, a=1), lambda: graph.add_node(1, b=2))
    assert graph.nodes[1] == {"a": 1, "b": 2}
