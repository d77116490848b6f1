"""Workers on several machines, whatever they do: `crew` is what engines see of them, `ray_crew` is
how Ray provides them, and the only module that knows Ray."""
