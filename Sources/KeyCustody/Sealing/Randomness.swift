/// The kernel's random numbers.
enum Randomness {
    /// Overwrites every byte. `SystemRandomNumberGenerator` reads getrandom(2) and traps on failure.
    static func fill(_ memory: UnsafeMutableRawBufferPointer) {
        var generator = SystemRandomNumberGenerator()
        for index in memory.indices { memory[index] = generator.next() }
    }
}
