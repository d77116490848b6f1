"""What Mazurka tells its users: verdicts, traces, tables, saved traces."""
