/** What differs from one deployment to the next: one JSON file beside the page. */
export interface Settings {
  /** The dashboard API, without a slash at the end; may be a path of this origin. */
  readonly apiUrl: string;
  /** A provider's gateway host, with `{provider}` where its label goes. */
  readonly gatewayUrl: string;
  /** Nothing leaves the machine: any provider credential will do. */
  readonly mockProviders: boolean;
}

/** @throws Error when the file is missing or is not what it should be */
export const loadSettings = async (): Promise<Settings> => {
  const response = await fetch('/config.json', { credentials: 'same-origin' });
  if (!response.ok) throw new Error(`config.json was answered with ${response.status}.`);
  const settings: unknown = await response.json();
  if (!isSettings(settings)) throw new Error('config.json lacks apiUrl or gatewayUrl.');
  return { apiUrl: settings.apiUrl, gatewayUrl: settings.gatewayUrl, mockProviders: settings.mockProviders === true };
};

const isSettings = (value: unknown): value is Settings =>
  typeof value === 'object' &&
  value !== null &&
  'apiUrl' in value &&
  typeof value.apiUrl === 'string' &&
  'gatewayUrl' in value &&
  typeof value.gatewayUrl === 'string';
