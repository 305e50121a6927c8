import ArgumentParser
import Vocabulary

/// `applepay-sandbox init`
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Generate a CA hierarchy like Apple's: root, intermediates, token signers.",
        discussion: """
            Private keys are written with mode 0600. If the directory already contains a hierarchy, the command fails and \
            changes nothing.
            """)

    @OptionGroup var hierarchy: HierarchyOptions

    func run() throws {
        try hierarchy.authorityDirectory.requireNoHierarchy()
        try hierarchy.authorityDirectory.store(SandboxAuthority(createdAt: .now))
        print("generated a CA hierarchy in '\(hierarchy.directory)'; clients must trust root.pem")
    }
}
