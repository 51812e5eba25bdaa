/** The settings of a deployment, from the file config.json next to the pages. */
export interface Settings {
  /** The URL of the dashboard API, without a trailing slash; may be a path of this origin. */
  readonly apiUrl: string;
  /** The gateway's URL, with `{provider}` in place of the provider's label. */
  readonly gatewayUrl: string;
  /** True where mock providers replace the real ones: any provider credential works. */
  readonly mockProviders: boolean;
}

/** @throws Error when the file is missing or invalid */
export const loadSettings = async (): Promise<Settings> => {
  const response = await fetch('/config.json', { credentials: 'same-origin' });
  if (!response.ok) throw new Error(`config.json could not be loaded: HTTP status ${response.status}.`);
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
