import ArgumentParser

struct RegistrationCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "registration", abstract: "Manage the registrations of merchants and domains with Apple.",
        discussion: """
            PARTNER is the platform's own identifier of a merchant (Apple's partnerInternalMerchantIdentifier). Put PARTNER in \
            single quotes, because a shell interprets some of its characters. If PARTNER begins with '-', put '--' before \
            PARTNER.
            """,
        subcommands: [
            RegistrationRegister.self, RegistrationUnregister.self, RegistrationDetails.self, RegistrationList.self,
            RegistrationSync.self, RegistrationImport.self,
        ])
}
