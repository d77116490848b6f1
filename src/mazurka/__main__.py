"""`python -m mazurka` is the `mazurka` command."""

from mazurka.cli.main import main

main()
