"""The `mazurka` command."""
