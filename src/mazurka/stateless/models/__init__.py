"""Programs in the intermediate representation, run on the reference interpreter."""
