import Glibc
import SandboxKit

exit(SandboxProgram.run(Array(CommandLine.arguments.dropFirst())))
