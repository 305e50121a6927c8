import ArgumentParser

struct RegistrationNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "registration", abstract: "Merchants and their domains, registered with Apple.",
        discussion: """
            PARTNER is the platform's own name for a merchant (Apple's partnerInternalMerchantIdentifier). Its characters \
            mean things to a shell: put it in single quotes; where it begins with '-', put '--' before it.
            """,
        subcommands: [
            RegistrationRegister.self, RegistrationUnregister.self, RegistrationDetails.self, RegistrationList.self,
            RegistrationSync.self, RegistrationImport.self,
        ])
}
