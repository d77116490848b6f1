"""Front ends: source text to `mazurka.ir.program.Program`."""
