import MerchantTestSupport

extension Scratch {
    func openssl(_ arguments: String...) throws { try ChildProcess.output(of: ["openssl"] + arguments) }
}
