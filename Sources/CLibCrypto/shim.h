#pragma once
// The parts of OpenSSL's libcrypto that this project uses: CMS messages, X.509 chains, and the containers (PKCS#12,
// PEM) of imported private keys.
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>

/// ERR_GET_REASON as a function, because it is a macro in some releases of OpenSSL, and Swift cannot use that macro.
static inline int clibcrypto_err_reason(unsigned long code) { return ERR_GET_REASON(code); }

// Functions on stacks of PKCS#7 structures and of PKCS#12 bags. OpenSSL declares these functions as macros.
static inline int clibcrypto_safe_count(const STACK_OF(PKCS7) *safes) { return safes ? sk_PKCS7_num(safes) : 0; }
static inline void clibcrypto_free_safes(STACK_OF(PKCS7) *safes) { sk_PKCS7_pop_free(safes, PKCS7_free); }

static inline int clibcrypto_bag_count(const STACK_OF(PKCS12_SAFEBAG) *bags) {
    return bags ? sk_PKCS12_SAFEBAG_num(bags) : 0;
}
static inline PKCS12_SAFEBAG *clibcrypto_bag(const STACK_OF(PKCS12_SAFEBAG) *bags, int index) {
    return sk_PKCS12_SAFEBAG_value(bags, index);
}
static inline void clibcrypto_free_bags(STACK_OF(PKCS12_SAFEBAG) *bags) {
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
}

/// Whether the content of a safe is plain or encrypted with a passphrase. Other safes are encrypted for a public key.
static inline int clibcrypto_safe_is_supported(const STACK_OF(PKCS7) *safes, int index) {
    const PKCS7 *safe = sk_PKCS7_value(safes, index);
    return PKCS7_type_is_data(safe) || PKCS7_type_is_encrypted(safe);
}

/// Returns the bags of a supported safe, which the caller must free; NULL if the safe cannot be read.
static inline STACK_OF(PKCS12_SAFEBAG) *clibcrypto_safe_bags(const STACK_OF(PKCS7) *safes, int index,
                                                             const char *passphrase, int length) {
    PKCS7 *safe = sk_PKCS7_value(safes, index);
    return PKCS7_type_is_data(safe) ? PKCS12_unpack_p7data(safe) : PKCS12_unpack_p7encdata(safe, passphrase, length);
}

/// Decrypts the content of a safe, which is one PKCS#7 part of a PKCS#12 file. Returns 1 on success; the caller must
/// free the content with OPENSSL_clear_free. Returns 0 if the safe is not encrypted, and -1 if it cannot be decrypted.
static inline int clibcrypto_open_safe(const STACK_OF(PKCS7) *safes, int index, const char *passphrase, int length,
                                       unsigned char **content, int *count) {
    const PKCS7 *safe = sk_PKCS7_value(safes, index);
    if (!PKCS7_type_is_encrypted(safe)) return 0;
    const PKCS7_ENC_CONTENT *sealed = safe->d.encrypted ? safe->d.encrypted->enc_data : NULL;
    if (!sealed || !sealed->algorithm || !sealed->enc_data) return -1;
    return PKCS12_pbe_crypt(sealed->algorithm, passphrase, length, ASN1_STRING_get0_data(sealed->enc_data),
                            ASN1_STRING_length(sealed->enc_data), content, count, 0)
               ? 1
               : -1;
}

#if defined(__x86_64__)
#define CLIBCRYPTO_ZERO_SSE(n) "pxor %%xmm" #n ", %%xmm" #n "\n\t"
#define CLIBCRYPTO_ZERO_AVX512(n) "vpxorq %%zmm" #n ", %%zmm" #n ", %%zmm" #n "\n\t"
#define CLIBCRYPTO_ZERO_8(zero, a, b, c, d, e, f, g, h) zero(a) zero(b) zero(c) zero(d) zero(e) zero(f) zero(g) zero(h)

/// Sets the vector registers to zero. A function need not preserve any of them (System V ABI for x86-64).
static inline void clibcrypto_zero_vector_registers(void) {
    // With AVX-512 there are 32 registers. glibc's memcpy uses 16 to 31, which vzeroall does not clear.
    if (__builtin_cpu_supports("avx512f")) {
        __asm__ volatile(CLIBCRYPTO_ZERO_8(CLIBCRYPTO_ZERO_AVX512, 16, 17, 18, 19, 20, 21, 22, 23)
                             CLIBCRYPTO_ZERO_8(CLIBCRYPTO_ZERO_AVX512, 24, 25, 26, 27, 28, 29, 30, 31)::
                                 : "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24",
                                   "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31");
    }
    if (__builtin_cpu_supports("avx")) {
        __asm__ volatile("vzeroall" ::
                             : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                               "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    } else {
        __asm__ volatile(CLIBCRYPTO_ZERO_8(CLIBCRYPTO_ZERO_SSE, 0, 1, 2, 3, 4, 5, 6, 7)
                             CLIBCRYPTO_ZERO_8(CLIBCRYPTO_ZERO_SSE, 8, 9, 10, 11, 12, 13, 14, 15)::
                                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                                   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    }
}
#else
static inline void clibcrypto_zero_vector_registers(void) {}
#endif

/// Overwrites the places where functions that used a private key may have left parts of the key: the vector registers,
/// and the stack below the caller's frame. Call this after such functions: libraries wipe the memory that they
/// allocate, but not their registers and stack frames.
///
/// The registers are cleared first, because they may still hold parts of the last long copy. When a function of another
/// library is called for the first time, the dynamic linker saves the registers on the stack. The call of
/// explicit_bzero may be such a first call. The registers would then be saved deeper in the stack than the part that is
/// overwritten here.
__attribute__((noinline)) static void clibcrypto_overwrite_traces(void) {
    clibcrypto_zero_vector_registers();
    // Twice the stack that the import of a PKCS#12 file uses. No other function with a private key uses more.
    unsigned char below[32768];
    explicit_bzero(below, sizeof below);
}
