import FoundationEssentials

#if FUZZING
    /// The main function of libFuzzer, which evaluates the arguments. See https://llvm.org/docs/LibFuzzer.html.
    @_silgen_name("LLVMFuzzerRunDriver")
    private func runDriver(
        _ argumentCount: UnsafeMutablePointer<CInt>,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
        _ parse: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    ) -> CInt
#endif

/// Passes input to the target that the environment variable `MERCHANTKEYD_FUZZ_TARGET` names.
///
/// Built with `-DFUZZING`, the input comes from libFuzzer. Otherwise it comes from the files in the arguments, to
/// reproduce a finding.
@main
enum TokenFuzz {
    static let target: FuzzTarget = {
        let name = ProcessInfo.processInfo.environment["MERCHANTKEYD_FUZZ_TARGET"] ?? ""
        guard let target = FuzzTarget(rawValue: name) else {
            fatalError(
                "found MERCHANTKEYD_FUZZ_TARGET '\(name)', expected one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))"
            )
        }
        return target
    }()

    static func main() throws {
        _ = target
        #if FUZZING
            var count = CommandLine.argc
            var arguments = CommandLine.unsafeArgv
            _ = runDriver(&count, &arguments) { start, count in
                TokenFuzz.target.parse(Array(UnsafeBufferPointer(start: start, count: count)))
                return 0
            }
        #else
            for path in CommandLine.arguments.dropFirst() {
                target.parse(Array(try Data(contentsOf: URL(filePath: path))))
                print("\(path): no finding")
            }
        #endif
    }
}
