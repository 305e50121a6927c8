#pragma once
// What this project uses of OpenSSL's libcrypto: CMS messages, X.509 chains, and the containers of old private keys.
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

/// ERR_GET_REASON, a macro in some releases.
static inline int clibcrypto_err_reason(unsigned long code) { return ERR_GET_REASON(code); }

// Stacks of certificates, whose functions are macros.
static inline int clibcrypto_count(const STACK_OF(X509) *stack) { return stack ? sk_X509_num(stack) : 0; }
static inline X509 *clibcrypto_certificate(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
static inline void clibcrypto_free_certificates(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

static inline int clibcrypto_safe_count(const STACK_OF(PKCS7) *safes) { return safes ? sk_PKCS7_num(safes) : 0; }
static inline void clibcrypto_free_safes(STACK_OF(PKCS7) *safes) { sk_PKCS7_pop_free(safes, PKCS7_free); }

/// Decrypts what a safe of a PKCS#12 file holds; the caller frees it. Returns 0 for a safe that is not encrypted, -1 where it
/// cannot be opened.
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

/// Zeroes the vector registers, none of which a function has to preserve (System V ABI for x86-64).
static inline void clibcrypto_zero_vector_registers(void) {
    // glibc copies through 16 to 31 where there are that many, which vzeroall does not reach.
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

/// Overwrites what the work that the caller just did with a private key may have left: the vector registers, and the stack below
/// the caller. The libraries wipe what they allocate, not what their functions spilt.
///
/// The registers come first. They still hold pieces of the last long copy, and the dynamic linker saves them on the stack when a
/// function of another library is called for the first time: as the next one here may be, below all that it overwrites.
__attribute__((noinline)) static void clibcrypto_overwrite_traces(void) {
    clibcrypto_zero_vector_registers();
    // Twice what the import of a PKCS#12 file uses, the most of all.
    unsigned char below[32768];
    explicit_bzero(below, sizeof below);
}
