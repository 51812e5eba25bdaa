import { afterEach, expect, it, jest } from '@jest/globals';
import { logFault } from '../../../lambda/gateway/relay/fault-log.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

const logged = (error: unknown): unknown[] => {
  const log = jest.spyOn(console, 'error').mockImplementation(() => {});
  logFault('id-1', error);
  return log.mock.calls.map(([line]) => JSON.parse(String(line)));
};
const line = { level: 'ERROR', message: 'gateway fault', requestId: 'id-1' };

it('logs a name and where it happened, but no message of any number of lines', () => {
  const error = new RangeError('one sk-1\n  at two sk-2');
  error.stack = `RangeError: ${error.message}\n    at here (file:1:2)\n    at there`;
  expect(logged(error)).toEqual([
    { ...line, errorName: 'RangeError', stack: ['    at here (file:1:2)', '    at there'] },
  ]);
});

it('logs an error without a stack', () => {
  const error = new TypeError('sk-1');
  Reflect.deleteProperty(error, 'stack');
  expect(logged(error)).toEqual([{ ...line, errorName: 'TypeError', stack: [] }]);
});
