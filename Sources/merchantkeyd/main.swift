import DaemonKit

await DaemonProgram.start()
