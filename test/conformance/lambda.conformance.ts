import { describeGateway } from './gateway-suite.ts';

describeGateway();
