import ArgumentParser

/// A currency on the command line: its code of ISO 4217 in letters or digits, such as `EUR` or `978`.
package struct Currency: Hashable, Sendable {
    /// The code in three letters.
    package let letters: String
    /// The code in three digits, as tokens contain it.
    package let numericCode: String
    /// How many digits an amount has after the decimal point: 2 for EUR, 0 for JPY, 3 for KWD.
    package let fractionDigits: Int

    /// - Throws: `ValidationError` unless the text is the code of a currency.
    package static func parse(_ text: String) throws -> Currency {
        let code = text.uppercased()
        guard let entry = table.first(where: { $0.prefix(3) == code || $0.suffix(3) == code }) else {
            // The argument parser prints "The value '…' is invalid for '…': " before this message.
            throw ValidationError("it is not a currency, expected a code of ISO 4217 such as EUR or 978")
        }
        let letters = String(entry.prefix(3))
        return Currency(
            letters: letters, numericCode: String(entry.suffix(3)), fractionDigits: exceptions[letters] ?? 2)
    }

    /// The currencies whose amounts do not have two digits after the decimal point.
    ///
    /// Source: ISO 4217, list one, column "minor unit".
    private static let exceptions: [String: Int] = {
        let digits = [
            0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
            3: "BHD IQD JOD KWD LYD OMR TND",
            4: "CLF UYW",
        ]
        return digits.reduce(into: [:]) { result, entry in
            for letters in entry.value.split(separator: " ") { result[String(letters)] = entry.key }
        }
    }()

    /// The codes in letters and in digits.
    ///
    /// Source: ISO 4217, list one, without metals, test codes and units of account of banks.
    private static let table = """
        AED784 AFN971 ALL008 AMD051 ANG532 AOA973 ARS032 AUD036 AWG533 AZN944 BAM977 BBD052 BDT050 BGN975 BHD048 \
        BIF108 BMD060 BND096 BOB068 BOV984 BRL986 BSD044 BTN064 BWP072 BYN933 BZD084 CAD124 CDF976 CHE947 CHF756 \
        CHW948 CLF990 CLP152 CNY156 COP170 COU970 CRC188 CUC931 CUP192 CVE132 CZK203 DJF262 DKK208 DOP214 DZD012 \
        EGP818 ERN232 ETB230 EUR978 FJD242 FKP238 GBP826 GEL981 GHS936 GIP292 GMD270 GNF324 GTQ320 GYD328 HKD344 \
        HNL340 HTG332 HUF348 IDR360 ILS376 INR356 IQD368 IRR364 ISK352 JMD388 JOD400 JPY392 KES404 KGS417 KHR116 \
        KMF174 KPW408 KRW410 KWD414 KYD136 KZT398 LAK418 LBP422 LKR144 LRD430 LSL426 LYD434 MAD504 MDL498 MGA969 \
        MKD807 MMK104 MNT496 MOP446 MRU929 MUR480 MVR462 MWK454 MXN484 MXV979 MYR458 MZN943 NAD516 NGN566 NIO558 \
        NOK578 NPR524 NZD554 OMR512 PAB590 PEN604 PGK598 PHP608 PKR586 PLN985 PYG600 QAR634 RON946 RSD941 RUB643 \
        RWF646 SAR682 SBD090 SCR690 SDG938 SEK752 SGD702 SHP654 SLE925 SLL694 SOS706 SRD968 SSP728 STN930 SVC222 \
        SYP760 SZL748 THB764 TJS972 TMT934 TND788 TOP776 TRY949 TTD780 TWD901 TZS834 UAH980 UGX800 USD840 USN997 \
        UYI940 UYU858 UYW927 UZS860 VED926 VES928 VND704 VUV548 WST882 XAF950 XCD951 XCG532 XOF952 XPF953 YER886 \
        ZAR710 ZMW967 ZWG924 ZWL932
        """.split(separator: " ")
}
