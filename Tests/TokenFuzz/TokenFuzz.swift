import FoundationEssentials

#if FUZZING
    /// libFuzzer's own main function, https://llvm.org/docs/LibFuzzer.html: it takes over the arguments.
    @_silgen_name("LLVMFuzzerRunDriver")
    private func runDriver(
        _ argumentCount: UnsafeMutablePointer<CInt>,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
        _ read: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    ) -> CInt
#endif

/// Reads bytes by the target that `MERCHANTKEYD_FUZZ_TARGET` names: those of libFuzzer in a build for it (`-DFUZZING`), else
/// those of the files given, to repeat what a fuzzer found.
@main
enum TokenFuzz {
    static let target: FuzzTarget = {
        let name = ProcessInfo.processInfo.environment["MERCHANTKEYD_FUZZ_TARGET"] ?? ""
        guard let target = FuzzTarget(rawValue: name) else {
            fatalError(
                "found MERCHANTKEYD_FUZZ_TARGET '\(name)', expected \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))"
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
                TokenFuzz.target.read(Array(UnsafeBufferPointer(start: start, count: count)))
                return 0
            }
        #else
            for path in CommandLine.arguments.dropFirst() {
                target.read(Array(try Data(contentsOf: URL(filePath: path))))
                print("\(path): read")
            }
        #endif
    }
}
