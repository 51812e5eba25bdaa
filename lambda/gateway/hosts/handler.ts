import type { APIGatewayProxyEvent } from 'aws-lambda';
import { environmentCredentials } from '../aws/aws-json.ts';
import { nodeTransport } from '../aws/transport-node.ts';
import { composeGateway } from '../compose.ts';
import { nodeUpstream } from '../upstream/upstream-node.ts';
import { gatewayRequest, type LambdaResponseStream, lambdaResponse } from './lambda-adapter.ts';

const { gateway, upstream } = composeGateway(process.env, environmentCredentials(process.env), {
  upstream: nodeUpstream,
  aws: nodeTransport,
});

/** The gateway behind API Gateway (REST, response streaming). One request at a time; the process may freeze in between. */
export const handler = awslambda.streamifyResponse(
  async (event: APIGatewayProxyEvent, stream: LambdaResponseStream) => {
    upstream.dropIdleConnections();
    const { client, broken } = lambdaResponse(stream);
    await gateway(gatewayRequest(event), client);
    // The platform then ends the client's connection as broken, not as complete.
    if (broken()) throw new Error('The provider broke off its answer; the client sees it broken as well.');
  },
);
