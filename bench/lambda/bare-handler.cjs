/**
 * The floor for a gateway on Lambda: a streaming handler that passes on what it gets, and neither reads, checks, counts nor records
 * anything. CommonJS, like the bundles of functions.
 */
const { Agent, request } = require('node:http');

const origin = Object.values(JSON.parse(process.env.UPSTREAM_ORIGINS))[0];
const agent = new Agent({ keepAlive: true });

exports.handler = awslambda.streamifyResponse(
  ({ httpMethod: method, path, headers, body, isBase64Encoded }, stream) =>
    new Promise((resolve, reject) => {
      const outgoing = request(origin + path, { agent, method, headers }, (incoming) => {
        const { statusCode, headers } = incoming;
        const output = awslambda.HttpResponseStream.from(stream, { statusCode, headers, multiValueHeaders: {} });
        incoming.pipe(output);
        output.on('finish', resolve).on('error', reject);
      });
      outgoing.on('error', reject);
      outgoing.end(body === null ? undefined : Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'));
    }),
);
