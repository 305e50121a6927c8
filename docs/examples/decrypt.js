// Take a payment: decrypt an Apple Pay payment token through merchantkeyd's decryptor socket.
// usage: node decrypt.js SOCKET TOKEN.json MERCHANT AMOUNT
'use strict'
const crypto = require('node:crypto')
const fs = require('node:fs')
const http = require('node:http')

// Keeps connections open between requests.
const agent = new http.Agent({ keepAlive: true })

function post (socketPath, path, document, idempotencyKey) {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey }
    const request = http.request({ agent, socketPath, path, method: 'POST', headers, timeout: 10000 }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (text) => { body += text })
      response.on('end', () => resolve({ status: response.statusCode, body }))
      response.on('error', reject)
    })
    request.on('timeout', () => request.destroy(new Error('no response within 10 s')))
    request.on('error', reject)
    request.end(JSON.stringify(document))
  })
}

async function main ([socketPath, tokenFile, merchant, amount]) {
  const request = {
    paymentData: JSON.parse(fs.readFileSync(tokenFile, 'utf8')),
    expected: { merchantIdentifier: merchant, transactionAmount: Number(amount) }
  }
  // Each attempt to take a payment has its own random idempotency key. Store this key with the attempt.
  const key = crypto.randomUUID()
  const send = () => post(socketPath, '/v1/payment-tokens/decrypt', request, key)
  // If no response arrives, the identical request with the same idempotency key gets the same result.
  const { status, body } = await send().catch(send)
  agent.destroy()
  const answer = JSON.parse(body)
  if (status !== 200) throw new Error(`${status} ${answer.code}: ${answer.detail}`)
  // The response holds the account number: pass it to the acquirer, and never log it.
  console.log('amount:', answer.paymentData.transactionAmount)
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message)
  process.exitCode = 1
})
