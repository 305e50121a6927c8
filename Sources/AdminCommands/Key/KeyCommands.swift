import ArgumentParser

struct KeyCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Manage key pairs, their CSRs and their states.",
        subcommands: [
            KeyGenerate.self, KeyList.self, KeyShow.self, KeyCSR.self, KeyImport.self, KeyImportAll.self,
            KeyPromote.self, KeyRevoke.self,
            KeyRestore.self, KeyDestroy.self,
        ])
}
