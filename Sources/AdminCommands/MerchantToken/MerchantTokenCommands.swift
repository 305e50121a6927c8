import ArgumentParser
import Vocabulary

struct MerchantTokenCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "merchant-token",
        abstract: "Show and manage merchant tokens, with which customers pay for subscriptions and similar orders.",
        subcommands: [
            MerchantTokenList.self, MerchantTokenShow.self, MerchantTokenUnlink.self,
            MerchantTokenSetNotificationURL.self, MerchantTokenPublicKey.self, MerchantTokenNotify.self,
            MerchantTokenNotificationURL.self,
        ])
}

/// The argument of the subcommands for one merchant token.
struct MerchantTokenArgument: ParsableArguments {
    @Argument(
        help: "The merchantTokenIdentifier, as 'merchant-token list' shows it.",
        transform: MerchantTokenIdentifier.parse)
    var token: MerchantTokenIdentifier
}
