"""The ways in: `mazurka.explore`, the pytest plugin, test files without a test runner."""
