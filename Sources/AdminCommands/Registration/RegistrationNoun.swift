import ArgumentParser

struct RegistrationNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "registration", abstract: "Manage the registrations of merchants and domains with Apple.",
        discussion: """
            PARTNER is the platform's own identifier of a merchant (Apple's partnerInternalMerchantIdentifier). Put it in \
            single quotes, because a shell interprets some of its characters. If it begins with '-', put '--' before it.
            """,
        subcommands: [
            RegistrationRegister.self, RegistrationUnregister.self, RegistrationDetails.self, RegistrationList.self,
            RegistrationSync.self, RegistrationImport.self,
        ])
}
