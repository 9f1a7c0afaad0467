// SPDX-License-Identifier: Apache-2.0

// fetch.cjs LIST N: fetches the URLs of a file with undici, N in flight, and prints
// how many were 200 and whole.
const fs = require('fs')
const { Pool } = require('undici')

const urls = fs.readFileSync(process.argv[2], 'utf8').trimEnd().split('\n')
const n = Number(process.argv[3])
const pool = new Pool(new URL(urls[0]).origin, { connections: n, pipelining: 1 })
let next = 0
let ok = 0

async function worker () {
  while (next < urls.length) {
    const { pathname } = new URL(urls[next++])
    try {
      const { statusCode, body } = await pool.request({ method: 'GET', path: pathname })
      await body.dump({ limit: Infinity })
      if (statusCode === 200) ok++
    } catch (e) {}
  }
}

Promise.all(Array.from({ length: n }, worker)).then(async () => {
  console.log(ok)
  await pool.close()
})
