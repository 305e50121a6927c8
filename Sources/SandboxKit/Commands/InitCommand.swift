import ArgumentParser
import Vocabulary

/// `applepay-sandbox init`
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Makes a hierarchy shaped like Apple's: root, intermediates, token signers.",
        discussion: "Private keys are written with mode 0600. An existing hierarchy is left as it is, and refused.")

    @OptionGroup var hierarchy: HierarchyOptions

    func run() throws {
        try hierarchy.authorityDirectory.refuseExisting()
        try hierarchy.authorityDirectory.store(SandboxAuthority(createdAt: .now))
        print("made a sandbox hierarchy in '\(hierarchy.directory)'; its root is root.pem")
    }
}
