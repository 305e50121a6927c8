import ArgumentParser

struct MerchantCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "merchant", abstract: "Manage merchants.",
        subcommands: [
            MerchantAdd.self, MerchantSet.self, MerchantList.self, MerchantShow.self, MerchantRemove.self,
            MerchantImport.self,
        ])
}
