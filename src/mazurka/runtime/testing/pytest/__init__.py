"""The pytest plugin: marked and decorated tests are explored instead of called."""
