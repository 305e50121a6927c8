import AdminCommands

await AdminProgram.main()
