import ArgumentParser

struct MerchantNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "merchant", abstract: "Merchants and how many key pairs each is meant to have.",
        subcommands: [MerchantAdd.self, MerchantList.self, MerchantShow.self, MerchantRemove.self, MerchantImport.self])
}
