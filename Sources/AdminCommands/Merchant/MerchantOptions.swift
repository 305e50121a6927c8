import ArgumentParser
import WireAPI

/// The properties of a merchant that `merchant add` and `merchant set` take.
struct MerchantOptions: ParsableArguments {
    @Option(help: "Name of the merchant, for people.")
    var name: String?

    @Option(help: ArgumentHelp("How many active key pairs the merchant should have, 1 to 16.", valueName: "n"))
    var target: Int?

    var isEmpty: Bool { name == nil && target == nil }
}

extension AddMerchantRequest {
    mutating func set(_ options: MerchantOptions) {
        name = options.name
        targetActiveKeyPairs = options.target
    }
}

extension ChangeMerchantRequest {
    mutating func set(_ options: MerchantOptions) {
        name = options.name
        targetActiveKeyPairs = options.target
    }
}
