import PassProvisioning
import Testing

/// A value of a card that crosses one limit, with the code of the finding about it.
struct CardLimit: Sendable, CustomTestStringConvertible {
    let card: TestCard
    let key: String
    /// The value as JSON text.
    let json: String
    let code: String
    let testDescription: String

    init(_ testDescription: String, _ card: TestCard, _ key: String, _ json: String, _ code: String) {
        self.testDescription = "\(key): \(testDescription)"
        self.card = card
        self.key = key
        self.json = json
        self.code = code
    }

    private static func letters(_ count: Int) -> String { "\"\(String(repeating: "a", count: count))\"" }

    static let numbers: [CardLimit] = [
        CardLimit("blanks", .mastercard, "primaryAccountNumber", #""5555 5555 5555 4444""#, "cardNumberSeparators"),
        CardLimit("hyphens", .mastercard, "primaryAccountNumber", #""5555-5555-5555-4444""#, "cardNumberSeparators"),
        CardLimit("letters", .mastercard, "primaryAccountNumber", #""555555555555444O""#, "cardNumberNotDigits"),
        CardLimit("other digits", .mastercard, "primaryAccountNumber", #""٥٥٥٥٥٥٥٥٥٥٥٥٤٤٤٤""#, "cardNumberNotDigits"),
        CardLimit("empty", .mastercard, "primaryAccountNumber", #""""#, "cardNumberLength"),
        CardLimit("15 digits", .mastercard, "primaryAccountNumber", #""378282246310005""#, "cardNumberLength"),
        CardLimit("a wrong digit", .mastercard, "primaryAccountNumber", #""5555555555554445""#, "cardNumberCheckDigit"),
        CardLimit("exchanged", .mastercard, "primaryAccountNumber", #""5555555555545444""#, "cardNumberCheckDigit"),
        CardLimit(
            "a number of another network", TestCard(.cardNumber, .visa), "primaryAccountNumber",
            #""5555555555554444""#, "cardNumberOtherNetwork"),
        CardLimit(
            "a prefix of another network", .visa, "primaryAccountNumberPrefix", #""555555""#, "cardNumberOtherNetwork"),
        CardLimit("5 digits", .visa, "primaryAccountNumberPrefix", #""41111""#, "cardNumberPrefix"),
        CardLimit("7 digits", .visa, "primaryAccountNumberPrefix", #""4111111""#, "cardNumberPrefix"),
        CardLimit("a letter", .visa, "primaryAccountNumberPrefix", #""41111x""#, "cardNumberPrefix"),
    ]

    static let texts: [CardLimit] = [
        CardLimit("a year of four digits", .mastercard, "expiration", #""04/2031""#, "expirationForm"),
        CardLimit("no slash", .mastercard, "expiration", #""0431""#, "expirationForm"),
        CardLimit("a hyphen", .mastercard, "expiration", #""04-31""#, "expirationForm"),
        CardLimit("year first", .mastercard, "expiration", #""31/04""#, "expirationMonth"),
        CardLimit("month 00", .mastercard, "expiration", #""00/31""#, "expirationMonth"),
        CardLimit("month 13", .mastercard, "expiration", #""13/31""#, "expirationMonth"),
        CardLimit("the month before", .mastercard, "expiration", #""10/26""#, "expirationPast"),
        CardLimit("the year before", .mastercard, "expiration", #""12/25""#, "expirationPast"),
        CardLimit("empty", .mastercard, "name", #""""#, "nameLength"),
        CardLimit("129 bytes", .visa, "name", letters(129), "nameLength"),
        CardLimit("blank", .visa, "name", #""  ""#, "nameBlank"),
        CardLimit("a line feed", .mastercard, "name", #""MARIA\nX""#, "nameCharacter"),
        CardLimit("a zero-width space", .visa, "name", #""MARIA\u200bX""#, "nameCharacter"),
        CardLimit("a replacement character", .mastercard, "name", #""JOS\ufffd""#, "nameCharacter"),
        CardLimit("UTF-8 read as Latin-1", .mastercard, "name", #""Jos\u00c3\u00a9""#, "nameTextDecoded"),
        CardLimit("unknown", .visa, "networkName", #""VISA""#, "networkNameUnknown"),
        CardLimit("another network", .visa, "networkName", #""Mastercard""#, "networkNameMismatch"),
        CardLimit("empty", .mastercard, "productType", #""""#, "productTypeForm"),
        CardLimit("33 letters", .visa, "productType", letters(33), "productTypeForm"),
        CardLimit("a blank", .visa, "productType", #""credit card""#, "productTypeForm"),
    ]

    static let encryptedNumbers: [CardLimit] = [
        CardLimit("empty", .visa, "encryptedPrimaryAccountNumber", #""""#, "encryptedNumberLength"),
        CardLimit("too long", .visa, "encryptedPrimaryAccountNumber", letters(4_100), "encryptedNumberLength"),
        CardLimit(
            "not encoded", .visa, "encryptedPrimaryAccountNumber",
            #""MBPAD-1-FK-KEY01--TDEA-00112233445566778899AABBCCDDEEFF""#, "encryptedNumberNotEncoded"),
        CardLimit("not Base64", .visa, "encryptedPrimaryAccountNumber", #""!!!!""#, "encryptedNumberNotBase64"),
        CardLimit(
            "no padding", .visa, "encryptedPrimaryAccountNumber",
            "\"\(TestCard.encryptedNumber.dropLast(2))\"", "encryptedNumberNotBase64"),
        CardLimit(
            "Base64 twice", .visa, "encryptedPrimaryAccountNumber",
            "\"\(TestBase64.encode(Array(TestCard.encryptedNumber.utf8)))\"", "encryptedNumberBase64Twice"),
        encrypted("MBPAC-1-FK-KEY01--TDEA-0011223344556677", "encryptedNumberIsActivationData"),
        encrypted("MBPAD-1-FK--TDEA-0011223344556677", "encryptedNumberForm"),
        encrypted("MBPAD-2-FK-KEY01--TDEA-0011223344556677", "encryptedNumberForm"),
        encrypted("MBPAD-1-FK-KEY01--AES-0011223344556677", "encryptedNumberForm"),
        encrypted("4111111111111111", "encryptedNumberForm"),
        encrypted("MBPAD-1-FK-KEY01--TDEA-", "encryptedNumberCiphertext"),
        encrypted("MBPAD-1-FK-KEY01--TDEA-001122334455667", "encryptedNumberCiphertext"),
        encrypted("MBPAD-1-FK-KEY01--TDEA-00112233445566", "encryptedNumberCiphertext"),
        encrypted("MBPAD-1-FK-KEY01--TDEA-001122334455667G", "encryptedNumberCiphertext"),
    ]

    private static func encrypted(_ text: String, _ code: String) -> CardLimit {
        CardLimit(
            text, .visa, "encryptedPrimaryAccountNumber", "\"\(TestBase64.encode(Array(text.utf8)))\"", code)
    }

    private static let card = #"{"primaryAccountNumber":"6304000000000000"}"#

    static let auxiliary: [CardLimit] = [
        CardLimit(
            "an expired card", .mastercard, "auxiliaryCards",
            #"[{"primaryAccountNumber":"6304000000000000","expiration":"10/26"}]"#, "expirationPast"),
        CardLimit("an object", .mastercard, "auxiliaryCards", card, "wrongType"),
        CardLimit("no card", .mastercard, "auxiliaryCards", "[]", "auxiliaryCardsCount"),
        CardLimit(
            "five cards", .visa, "auxiliaryCards", "[\(Array(repeating: card, count: 5).joined(separator: ","))]",
            "auxiliaryCardsCount"),
        CardLimit("a string", .visa, "auxiliaryCards", #"["x"]"#, "wrongType"),
        CardLimit("a card without number", .mastercard, "auxiliaryCards", "[{}]", "noCardNumber"),
        CardLimit(
            "both numbers", .mastercard, "auxiliaryCards",
            #"[{"primaryAccountNumber":"6304000000000000","encryptedPrimaryAccountNumber":"AAAA"}]"#, "bothCardNumbers"),
        CardLimit(
            "a nonce", .visa, "auxiliaryCards", #"[{"nonce":"00","primaryAccountNumber":"6304000000000000"}]"#,
            "forbiddenKey"),
        CardLimit("nested", .mastercard, "auxiliaryCards", nested, "forbiddenKey"),
        CardLimit(
            "11 digits", .mastercard, "auxiliaryCards", #"[{"primaryAccountNumber":"63040000000"}]"#, "cardNumberLength"
        ),
        CardLimit(
            "an unknown key", .mastercard, "auxiliaryCards",
            #"[{"primaryAccountNumber":"6304000000000000","label":1}]"#, "auxiliaryKeyNotValidated"),
    ]

    private static let nested = #"[{"auxiliaryCards":[],"primaryAccountNumber":"6304000000000000"}]"#

    static let all = [numbers, texts, encryptedNumbers, auxiliary].flatMap { $0 }
}
