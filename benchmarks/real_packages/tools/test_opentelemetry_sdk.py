import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from together import run_together

pytestmark = pytest.mark.mazurka


def test_counter():
    """holds: each measurement is aggregated under a lock."""
    reader = InMemoryMetricReader()
    provider = MeterProvider(metric_readers=[reader], shutdown_on_exit=False)
    counter = provider.get_meter("meter").create_counter("counter")
    run_together(lambda: counter.add(1), lambda: counter.add(1))
    (resource,) = reader.get_metrics_data().resource_metrics
    assert resource.scope_metrics[0].metrics[0].data.data_points[0].value == 2
