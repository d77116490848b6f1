"""Searches over schedules: a program is run again and again, and no state is stored."""
