// Take a payment: decrypt an Apple Pay payment token through merchantkeyd's decryptor socket.
// usage: node decrypt.js SOCKET TOKEN.json MERCHANT AMOUNT
'use strict'
const crypto = require('node:crypto')
const fs = require('node:fs')
const http = require('node:http')
const { setTimeout: sleep } = require('node:timers/promises')

// Keeps connections open between requests.
const agent = new http.Agent({ keepAlive: true })

function postOnce (socketPath, path, body, idempotencyKey) {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey }
    // The option `timeout` would limit only the time between two bytes.
    const signal = AbortSignal.timeout(15000)
    const request = http.request({ agent, socketPath, path, method: 'POST', headers, signal }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part) => { text += part })
      response.on('end', () => {
        resolve({ status: response.statusCode, retryAfter: response.headers['retry-after'], text })
      })
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}

// Sends a request, and repeats it for up to 30 seconds as docs/errors.md says.
async function post (socketPath, path, body, idempotencyKey) {
  const giveUp = Date.now() + 30000
  for (let pause = 100; ; pause = Math.min(2 * pause, 2000)) {
    let response, failure
    let wait = pause
    try {
      response = await postOnce(socketPath, path, body, idempotencyKey)
      response.answer = JSON.parse(response.text)
      if (response.retryAfter) wait = 1000 * Number(response.retryAfter)
      else if (!['internalError', 'requestTimeout'].includes(response.answer.code)) return response
    } catch (error) {
      // No complete response arrived. The identical request with the same key gets the same result.
      failure = error
    }
    if (Date.now() + wait > giveUp) {
      if (failure) throw failure
      return response
    }
    await sleep(wait)
  }
}

async function main ([socketPath, tokenFile, merchant, amount]) {
  // Each attempt to take a payment has its own random idempotency key. Store the key and the body with the attempt.
  const key = crypto.randomUUID()
  const body = JSON.stringify({
    paymentData: JSON.parse(fs.readFileSync(tokenFile, 'utf8')),
    expected: {
      merchantIdentifier: merchant,
      transactionAmount: Number(amount), // in cents
      currencyCode: '840' // US dollars, ISO 4217
    }
  })
  const { status, answer } = await post(socketPath, '/v1/payment-tokens/decrypt', body, key)
  agent.destroy()
  if (status !== 200) throw new Error(`${status} ${answer.code}: ${answer.detail}`)
  // The response holds the account number: pass it to the acquirer, and never log it.
  console.log('amount:', answer.paymentData.transactionAmount)
}

if (process.argv.length !== 6) {
  console.error('usage: node decrypt.js SOCKET TOKEN.json MERCHANT AMOUNT')
  process.exit(2)
}
main(process.argv.slice(2)).catch((error) => {
  console.error(error.message)
  process.exitCode = 1
})
